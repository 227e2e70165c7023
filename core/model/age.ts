/**
 * A time in a cell of a Table that is shown as the time since then, between two texts.
 *
 * @example
 * const cell = order => ({ since: Date.parse(order.metadata.creationTimestamp), after: ' ago' });
 */
export interface Age {
  /** Milliseconds since the epoch, an integer. */
  readonly since: number;
  readonly before?: string;
  readonly after?: string;
}

/** Value of a cell of a Table. */
export type CellValue = string | number | bigint | boolean | null | Age;

/** Whether the value of a cell is an age. */
export const isAge = (cell: CellValue): cell is Age => typeof cell === 'object' && cell !== null;

/** Returns the content of a cell; `now` is in milliseconds since the epoch. */
export const showCell = (cell: CellValue, now: number): Exclude<CellValue, Age> =>
  isAge(cell) ? `${cell.before ?? ''}${humanDuration(now - cell.since)}${cell.after ?? ''}` : cell;

const twoUnits = (whole: number, unit: string, rest: number, restUnit: string): string =>
  rest === 0 ? `${whole}${unit}` : `${whole}${unit}${rest}${restUnit}`;

/**
 * Formats an age as kubectl: with two units if the first is small, otherwise one (`5m30s`, `2h`, `3d4h`, `2y`). Ages of
 * more than a second in the future are `<invalid>`.
 */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return twoUnits(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return twoUnits(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return twoUnits(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  const years = Math.floor(days / 365);
  return years < 8 ? twoUnits(years, 'y', days % 365, 'd') : `${years}y`;
}
