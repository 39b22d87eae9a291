/** The diagnostics channel of what a first call needs: compiled programs and self-tests. */
import { channel } from 'node:diagnostics_channel';

/** Message of the diagnostics channel `clsort:preparation`, published when a program was built or a kernel was tested. */
export interface PreparationMessage {
  /** `build`: a program was compiled, or loaded from a cache; `self-test`: kernels were tested before their first use. */
  readonly step: 'build' | 'self-test';
  /** File of the program, or name of the algorithm or primitive. */
  readonly subject: string;
  /** Wall-clock seconds of the step. Steps may overlap. */
  readonly seconds: number;
}

const preparationChannel = channel('clsort:preparation');

/** Runs a step and publishes its message, also if the step fails. Settles as the step does. */
export async function publishPreparation<T>(
  step: PreparationMessage['step'],
  subject: string,
  run: () => Promise<T>,
): Promise<T> {
  const started = performance.now();
  try {
    return await run();
  } finally {
    const message: PreparationMessage = { step, subject, seconds: (performance.now() - started) / 1000 };
    preparationChannel.publish(message);
  }
}
