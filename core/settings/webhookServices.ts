import type { Settings } from './settings.js';

/** The URLs of services, by `namespace/name` or `namespace/name:port`. */
export const webhookServices = ({ webhookResolve }: Pick<Settings, 'webhookResolve'>): Record<string, string> =>
  Object.fromEntries(
    webhookResolve.map(pair => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at < 0 ? pair.length : at), at < 0 ? '' : pair.slice(at + 1)];
    }),
  );
