import { Verbatim } from './refusal.js';

/** A list of strings as Go prints it in messages. */
export const goStrings = (texts: readonly string[]): Verbatim =>
  new Verbatim(`[]string{${texts.map(text => JSON.stringify(text)).join(', ')}}`);
