/** The parts of a URL that are checked. */
export interface UrlParts {
  readonly scheme: string;
  readonly user: string;
  readonly host: string;
  readonly query: string;
  readonly fragment: string;
}

const BAD_ESCAPE = /%(?![0-9A-Fa-f]{2})/;

/** Returns why the percent escapes of a part are malformed; undefined if they are not. */
function escapeComplaint(part: string): string | undefined {
  const at = part.search(BAD_ESCAPE);
  return at < 0 ? undefined : `invalid URL escape ${JSON.stringify(part.slice(at, at + 3))}`;
}

const CONTROL = /[\u0000-\u001f\u007f]/;

/** ASCII characters that are not allowed in the name of a host. */
const NOT_IN_HOST = /[^A-Za-z0-9\-_.~!$&'()*+,;=:[\]<>"%\u0080-\uffff]/;

function hostComplaint(host: string): string | undefined {
  if (host.startsWith('[') && !host.includes(']')) return "missing ']' in host";
  const port = host.startsWith('[') ? host.slice(host.lastIndexOf(']') + 1) : (/:[^:]*$/.exec(host)?.[0] ?? '');
  if (port !== '' && !/^:\d*$/.test(port)) return `invalid port ${JSON.stringify(port)} after host`;
  const wrong = NOT_IN_HOST.exec(host);
  if (wrong) return `invalid character ${JSON.stringify(wrong[0])} in host name`;
  const wrongEscape = /%(?!25)/.exec(host);
  return wrongEscape
    ? `invalid URL escape ${JSON.stringify(host.slice(wrongEscape.index, wrongEscape.index + 3))}`
    : undefined;
}

const splitAt = (text: string, separator: string): readonly [string, string] => {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
};

/** Parses a URL or a relative reference as Go does. Returns the error message for a malformed one. */
export function parseGoUrl(text: string): UrlParts | string {
  if (CONTROL.test(text)) return 'net/url: invalid control character in URL';
  if (text.startsWith(':')) return 'missing protocol scheme';
  const [before, fragment] = splitAt(text, '#');
  const [, scheme = '', afterScheme = before] = /^([A-Za-z][A-Za-z0-9+.-]*):([\s\S]*)$/.exec(before) ?? [];
  const [rest, query] = splitAt(afterScheme, '?');
  const parts = { scheme: scheme.toLowerCase(), user: '', host: '', query, fragment };
  if (!rest.startsWith('/') && scheme !== '') return parts;
  if (!rest.startsWith('/') && splitAt(rest, '/')[0].includes(':'))
    return 'first path segment in URL cannot contain colon';
  const hasAuthority = rest.startsWith('//') && (scheme !== '' || !rest.startsWith('///'));
  const authority = hasAuthority ? (/^[^/]*/.exec(rest.slice(2))?.[0] ?? '') : '';
  const path = hasAuthority ? rest.slice(2 + authority.length) : rest;
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1);
  const why = hostComplaint(host) ?? escapeComplaint(path) ?? escapeComplaint(fragment);
  return why ?? { ...parts, user: at < 0 ? '' : authority.slice(0, at), host };
}
