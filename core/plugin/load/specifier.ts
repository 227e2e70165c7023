/** Splits `module#export` into the module and the name of its export; without a name it is the default export. */
export function partsOf(use: string): readonly [specifier: string, name: string] {
  const [specifier = '', name = 'default'] = use.split('#');
  return [specifier, name];
}
