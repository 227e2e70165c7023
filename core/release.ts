/** The release whose behaviour this server has. */
export const RELEASE = { major: '1', minor: '32', patch: '0' } as const;
