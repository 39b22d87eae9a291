/** Loading of packages that users install when they need them. */
import { createRequire } from 'node:module';
import { ClsortError, PackageError } from './errors.js';

/** Loads the CommonJS build of a package, in half the time of an import of its modules. */
export const requirePackage = async <T>(name: string): Promise<T> => createRequire(import.meta.url)(name);

/**
 * Loads an optional package.
 *
 * @param name name of the package on npm
 * @param needing what needs the package, such as 'this format'
 * @param load imports the package
 * @param install packages to install; default: `name`
 * @throws PackageError when the package is not installed or cannot be loaded
 * @throws ClsortError when `load` throws one
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
    const isMissing = code?.endsWith('MODULE_NOT_FOUND') && message.includes(`'${name}'`);
    throw new PackageError(
      `cannot load the package ${name}, which ${needing} needs: ` +
        (isMissing
          ? `it is not installed. Run npm install ${install}, with --global if clsort is installed globally`
          : message),
      { cause, details: { package: name } },
    );
  }
}
