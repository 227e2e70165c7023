const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True']);
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False']);

/** The value of a text that Go's `strconv.ParseBool` accepts; undefined for any other text. */
export const parseGoBool = (text: string): boolean | undefined =>
  TRUE.has(text) ? true : FALSE.has(text) ? false : undefined;
