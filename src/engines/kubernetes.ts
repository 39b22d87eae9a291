/** A sort or batch as a manifest of Kubernetes Indexed Jobs. The manifest is written but not applied. */
import { type Chain, type ChainStep, type NodeOptions, taskArguments } from './chain.js';
import type { JobFolder } from './job-folder.js';

export interface ClusterOptions extends NodeOptions {
  readonly image: string;
  /** Name of the persistent volume claim that all pods share. */
  readonly claim: string;
  /** Resource limit of each pod that sorts, as NAME=COUNT with the name of the device plugin. */
  readonly resource: string | undefined;
}

/** JSON is valid YAML and escapes all text. */
const yaml = (value: unknown): string => JSON.stringify(value);

/** Returns the Jobs of the remaining steps. All but the first are suspended, since Kubernetes does not order Jobs. */
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
    // Kubernetes would expand $( ) as a variable.
    const words = taskArguments(options, id, step).map((word) => word.replaceAll('$(', '$$$$('));
    // Each index is a share; completed shares end at once.
    const share = shares ? ['--share', '$(JOB_COMPLETION_INDEX)'] : [];
    const [resource, amount = '1'] = isOnDevice ? (options.resource?.split('=') ?? []) : [];
    // The jobs of a batch fail independently.
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
    `# ${title} Written by clsort; not tested.`,
    ...(names.length > 1 ? ['# Start each Job when the previous one is complete:'] : []),
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
