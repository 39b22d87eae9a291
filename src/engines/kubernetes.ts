/** A sort or a batch as Indexed Jobs of Kubernetes: a manifest, which is written and not run here. */
import { type Chain, type ChainStep, type NodeOptions, taskArguments } from './chain.js';
import type { JobFolder } from './job-folder.js';

export interface ClusterOptions extends NodeOptions {
  readonly image: string;
  /** The claim of the volume that all pods share. */
  readonly claim: string;
  /** What each pod that sorts is given, as a device plugin names it: NAME=COUNT. */
  readonly resource: string | undefined;
}

/** JSON is YAML, and leaves no text unescaped. */
const yaml = (value: unknown): string => JSON.stringify(value);

/** The Jobs of what is left to do. All but the first are suspended: Kubernetes knows no order of Jobs. */
export function kubernetesManifest(
  { title, steps }: Chain,
  folder: JobFolder,
  options: ClusterOptions,
): string {
  const { id } = folder;
  const documents: string[] = [];
  const names: string[] = [];
  const add = ({ step, shares, isOnDevice }: ChainStep): void => {
    const name = `clsort-${id}-${step}`;
    const isFirst = names.length === 0;
    const completions = shares?.of ?? 1;
    names.push(name);
    // What stands in $( ) would be taken for a variable.
    const words = taskArguments(options, id, step).map((word) => word.replaceAll('$(', '$$$$('));
    // An index is a share: those that are done end at once.
    const share = shares ? ['--share', '$(JOB_COMPLETION_INDEX)'] : [];
    const [resource, amount = '1'] = isOnDevice ? (options.resource?.split('=') ?? []) : [];
    // A job of a batch that fails keeps the others from nothing.
    const isEachAlone = step === 'batch';
    documents.push(
      [
        'apiVersion: batch/v1',
        'kind: Job',
        'metadata:',
        `  name: ${name}`,
        `  labels: { app: clsort, clsort-job: ${yaml(id)}, clsort-step: ${step} }`,
        'spec:',
        `  suspend: ${!isFirst}`,
        '  completionMode: Indexed',
        `  completions: ${completions}`,
        `  parallelism: ${completions}`,
        isEachAlone ? '  backoffLimitPerIndex: 2' : '  backoffLimit: 6',
        '  template:',
        '    metadata:',
        `      labels: { app: clsort, clsort-job: ${yaml(id)}, clsort-step: ${step} }`,
        '    spec:',
        `      restartPolicy: ${isEachAlone ? 'Never' : 'OnFailure'}`,
        '      containers:',
        '        - name: clsort',
        `          image: ${yaml(options.image)}`,
        `          command: ${yaml([...words, ...share])}`,
        ...(resource ? [`          resources: { limits: { ${yaml(resource)}: ${yaml(amount)} } }`] : []),
        '          volumeMounts:',
        `            - { name: shared, mountPath: ${yaml(options.root)} }`,
        '      volumes:',
        `        - { name: shared, persistentVolumeClaim: { claimName: ${yaml(options.claim)} } }`,
      ].join('\n'),
    );
  };
  for (const step of steps) add(step);
  const comments = [
    `# ${title} Made, but not tested, by clsort.`,
    ...(names.length > 1 ? ['# Each Job begins when the one before is complete:'] : []),
    '#   kubectl apply -f THIS',
    ...names
      .slice(1)
      .flatMap((name, i) => [
        `#   kubectl wait --for=condition=complete --timeout=-1s job/${names[i]}`,
        `#   kubectl patch job/${name} --type=merge -p '{"spec":{"suspend":false}}'`,
      ]),
  ];
  return `${comments.join('\n')}\n${documents.map((document) => `---\n${document}\n`).join('')}`;
}
