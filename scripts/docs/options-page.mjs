// Generates the page of all options of the library, from their docstrings and their validation.

import { cell, code } from './markdown.mjs';

/** The first release, which introduced every option without a version tag. */
const FIRST = '0.1.0';

/** Types whose properties are options, in the order of the page, with the functions that accept them. */
const TYPES = [
  [
    'SortOptions',
    'The options of `sort`, `argsort`, `sortPairs`, `sortInPlace`, the segmented sorts, `sortMany` and `argsortMany`, and of the methods of a `Sorter` (there without `device` and `devices`).',
  ],
  ['AdvancedOptions', 'The option `advanced` of a sort holds parameters for measurements and tests:'],
  ['Into', 'Operations that make an array take one, too, which they fill instead.'],
  ['PositionOptions', '`argsort`, `topK` and `searchSorted` take, besides:'],
  ['TopKOptions', '`topK` takes those of a sort but `descending`, and:'],
  ['NthOptions', '`nth`, `median` and `argpartition` sort few keys or none. They take, besides:'],
  ['QuantileOptions', '`quantile` takes these as well, and:'],
  [
    'NullOrder',
    '`sort`, `argsort`, `topK` and `unique` of Arrow vectors take those for arrays but `dtype` and `into`, and:',
  ],
  ['UniqueOptions', '`unique` compares whole keys.'],
  ['UniqueColumns', '`unique` takes, besides:'],
  [
    'SetOptions',
    '`isIn`, `intersect`, `union`, `difference` and `setXor` take those of `unique` without its columns, and:',
  ],
  ['JoinOptions', '`join` takes these as well, and:'],
  ['MergeManyOptions', '`mergeMany` compares whole keys.'],
  ['LexsortOptions', '`lexsort` takes an order for columns that have none of their own.'],
  ['LexsortColumn', 'A column of `lexsort`:'],
  ['SegmentedArgsortOptions', '`segmentedArgsort` takes those of a sort, and:'],
  ['PrimitiveOptions', '`reduce`, `scan`, `histogram` and `gather` sort nothing.'],
  ['ScanOptions', '`scan` takes, besides:'],
  ['HistogramBins', '`histogram` takes, besides:'],
  ['PlanOptions', '`Sorter.plan` takes those of a sort, and:'],
  ['OpenOptions', '`Sorter.open` takes:'],
  [
    'RecordLayout',
    '`sortRecords` and `argsortRecords` take the options of a sort but `dtype`, `descending` and `bitRange`, and:',
  ],
  ['SortFileOptions', '`sortFile` takes:'],
  [
    'TableOptions',
    '`sortTable` takes the options of a sort but `dtype`, `descending` and `bitRange`, and, but `by` and `columns`, which are its arguments, as `sortFile` of a table:',
  ],
];

/** Units by option name; all other options are counts, names and switches. */
const UNITS = {
  timeout: 'milliseconds',
  poolBytes: 'bytes',
  valueBytes: 'bytes',
  record: 'bytes',
  bitRange: 'bits',
  radixBits: 'bits',
  bins: 'bins',
  head: 'rows',
};

/** Formats a type in TypeScript syntax, as far as options need it. */
export function typeText(type) {
  switch (type?.type) {
    case 'intrinsic':
      return type.name;
    case 'literal':
      return typeof type.value === 'string' ? `'${type.value}'` : String(type.value);
    case 'union':
      return type.types
        .filter(({ name }) => name !== 'undefined')
        .map(typeText)
        .join(' | ');
    case 'intersection':
      return type.types.map(typeText).join(' & ');
    case 'array':
      return `${typeText(type.elementType)}[]`;
    case 'tuple':
      return `[${type.elements.map(typeText).join(', ')}]`;
    case 'namedTupleMember':
      return `${type.name}: ${typeText(type.element)}`;
    case 'typeOperator':
      return type.operator === 'readonly'
        ? typeText(type.target)
        : `${type.operator} ${typeText(type.target)}`;
    case 'reference':
      return type.typeArguments ? `${type.name}<${type.typeArguments.map(typeText).join(', ')}>` : type.name;
    case 'reflection': {
      const [signature] = type.declaration.signatures ?? [];
      if (!signature) return 'object';
      const parameters = (signature.parameters ?? []).map(({ name, type: of }) => `${name}: ${typeText(of)}`);
      return `(${parameters.join(', ')}) => ${typeText(signature.type)}`;
    }
    default:
      return type?.name ?? 'unknown';
  }
}

const textOf = (parts = []) => parts.map(({ text }) => text).join('');
const tagOf = ({ comment }, name) => {
  const tag = comment?.blockTags?.find((one) => one.tag === name);
  return tag ? textOf(tag.content).trim() : undefined;
};

/** Returns the properties that a type declares itself, without inherited ones. */
function propertiesOf(declaration) {
  if (declaration.children) return declaration.children;
  const inType = (type) => {
    if (!type) return [];
    if (type.type === 'reflection') return type.declaration.children ?? [];
    if (type.type === 'intersection') return type.types.flatMap(inType);
    return [];
  };
  return inType(declaration.type);
}

/**
 * Returns the page.
 *
 * @param api reflections of TypeDoc
 * @param expectedOf returns what an option accepts, as in its error message
 * @returns the page, and what it lacks
 */
export function optionsPage(api, expectedOf) {
  const missing = [];
  const sections = TYPES.map(([name, about]) => {
    const declaration = api.children.find((one) => one.name === name);
    if (!declaration)
      throw new Error(`${name} is no public type any more: see scripts/docs/options-page.mjs`);
    const rows = propertiesOf(declaration).map((property) => {
      const summary = textOf(property.comment?.summary);
      const optional = property.flags?.isOptional === true;
      const fallback = tagOf(property, '@defaultValue') ?? (optional ? undefined : 'none: has to be given');
      if (summary === '') missing.push(`${name}.${property.name} has no docstring`);
      if (fallback === undefined) missing.push(`${name}.${property.name} has no @defaultValue`);
      const expected = expectedOf(property.name);
      const unit = UNITS[property.name];
      const errors = [
        ...(expected ? [`\`UsageError\` unless it is ${cell(expected)}`] : []),
        ...(tagOf(property, '@throws') ? [cell(tagOf(property, '@throws'))] : []),
      ];
      return [
        `### \`${property.name}\` {#${name}-${property.name}}`,
        cell(summary),
        [
          `- Type: ${code(typeText(property.type))}`,
          `- Default: ${cell(fallback ?? '')}`,
          ...(unit ? [`- Unit: ${unit}`] : []),
          `- Errors: ${errors.join('; ') || 'those of the operation'}`,
          `- Since: ${tagOf(property, '@since') ?? FIRST}`,
        ].join('\n'),
      ].join('\n\n');
    });
    const heading = `## ${name}\n\n${about}\n`;
    if (rows.length > 0) return `${heading}\n${rows.join('\n\n')}\n`;
    return `${heading}\n${cell(textOf(declaration.comment?.summary))} It takes ${code(typeText(declaration.type))}.\n`;
  });
  const page = `# Options

Every option of every function, from the types and from what checks them. All may be left out unless the default says otherwise; an
unknown name is a \`UsageError\` (\`ERR_CLSORT_USAGE\`) that suggests the nearest one. [Errors](./errors.md) lists all codes.

${sections.join('\n')}`;
  return { page, missing };
}
