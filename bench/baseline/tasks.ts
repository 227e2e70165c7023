/** What a baseline process is to be. Files are in PEM; without them it speaks plain HTTP. */
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

/** What it answers: where it listens, or (CPU in microseconds per value) what it measured. */
export type BaselineReply =
  | { readonly is: 'listening'; readonly port: number }
  | { readonly is: 'done'; readonly perSecond: number; readonly user: number; readonly system: number };
