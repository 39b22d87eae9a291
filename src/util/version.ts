/** Version of this code. The files that it needs must be of the same version. */
export const VERSION = '0.1.0';
