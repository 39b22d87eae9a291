import type { ClsortError } from '../../util/errors.js';
import type { Backend } from '../backend/backend.js';
import type { SortSettings } from '../model/options.js';

/** Context in which a call runs. */
export interface CallContext {
  readonly backend: Backend;
  readonly settings: SortSettings;
  /** Receives warnings if the settings have no `onWarning`. */
  readonly onWarning: (warning: ClsortError) => void;
}
