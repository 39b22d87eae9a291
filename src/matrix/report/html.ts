export const htmlReport = (_: unknown): string => '';
