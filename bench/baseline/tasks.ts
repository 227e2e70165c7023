/** The task of a baseline process. `cert` and `key` are PEM files; without them it speaks plain HTTP. */
export type BaselineTask =
  | { readonly is: 'bare'; readonly bytes: number; readonly cert?: string; readonly key?: string }
  | { readonly is: 'broadcast'; readonly cert?: string; readonly key?: string }
  | {
      readonly is: 'batches';
      readonly dir: string;
      readonly batch: number;
      readonly bytes: number;
      readonly ms: number;
    };

/** Its answer: where it listens, or its measurement (CPU in microseconds per value). */
export type BaselineReply =
  | { readonly is: 'listening'; readonly port: number }
  | { readonly is: 'done'; readonly perSecond: number; readonly user: number; readonly system: number };
