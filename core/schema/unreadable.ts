import { Refusal } from '../model/refusal.js';

/**
 * A body whose kind nobody can tell, since it is no text of its format or no object: 400. Readers of objects add which
 * kind was wanted.
 */
export class Unreadable extends Refusal {
  constructor(message: string) {
    super('BadRequest', message);
  }
}
