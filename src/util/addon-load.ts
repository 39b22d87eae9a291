/** Lets code that must not load the addon act when other code loads it. */

/** Functions of the addon about the process. */
export interface ProcessFunctions {
  /**
   * Ends the process `milliseconds` after a signal even if the main thread is blocked.
   *
   * @param received number of a signal that was received before; 0 if there is none
   */
  guardProcess(milliseconds: number, received: number): void;
  /** Adds a temporary file or folder to those that `guardProcess` removes, or takes it out. */
  guardFile(path: string, add: boolean): void;
  /** Ends the process when its parent ends, where the system supports it. */
  endWithParent(parent: number): void;
}

type Listener = (addon: ProcessFunctions) => void;

const listeners: Listener[] = [];

/** Calls a function when the addon has been loaded, and before any driver is called. */
export const onAddonLoad = (listener: Listener): void => void listeners.push(listener);

/** Calls the listeners, once. */
export function addonLoaded(addon: ProcessFunctions): void {
  for (const listener of listeners.splice(0)) listener(addon);
}
