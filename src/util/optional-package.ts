/** Packages that users install when they need them. */
import { ClsortError, PackageError } from './errors.js';

/**
 * Loads such a package.
 *
 * @param name of the package, as npm has it
 * @param needing what needs it, as 'this format'
 * @param install packages to install for that, by default this one
 * @throws PackageError where it is not installed, or does not load; an error of ours that `load` throws
 */
export async function optionalPackage<T>(
  name: string,
  needing: string,
  load: () => Promise<T>,
  install = name,
): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (cause instanceof ClsortError) throw cause;
    const { code, message = '' } = cause as NodeJS.ErrnoException;
    const isMissing = code === 'ERR_MODULE_NOT_FOUND' && message.includes(`'${name}'`);
    throw new PackageError(
      isMissing
        ? `${needing} needs the package ${name}, which is not installed: npm install ${install}`
        : `the package ${name}, which ${needing} needs, cannot be loaded: ${message}`,
      { cause, details: { package: name } },
    );
  }
}
