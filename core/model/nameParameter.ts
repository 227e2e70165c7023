import { pathSegment } from './names.js';
import { goQuote } from './text/quote.js';
import { badRequest } from './refusal.js';

/** Checks the name by which a request refers to an object. Throws 400 for one that no object can have. */
export function checkNameParameter(name: string): void {
  if (name === '') throw badRequest('Name parameter required.');
  const found = pathSegment(name);
  if (found.length > 0) throw badRequest(`Name parameter invalid: ${goQuote(name)}: ${found.join(';')}`);
}
