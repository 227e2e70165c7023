const COMPONENT = '[a-z0-9]+(?:(?:__|[._]|-+)[a-z0-9]+)*';
const LABEL = '[a-zA-Z0-9](?:[a-zA-Z0-9-]*[a-zA-Z0-9])?';
const HOST = `(?:${LABEL}(?:\\.${LABEL})*|\\[[a-fA-F0-9:]+\\])(?::[0-9]+)?`;
const WORD = '[A-Za-z][A-Za-z0-9]*';
const REFERENCE = new RegExp(
  `^(${HOST}/${COMPONENT}(?:/${COMPONENT})*)` +
    '(?::(?<tag>\\w[\\w.-]*))?' +
    `(?:@(?<digest>${WORD}(?:[-_+.]${WORD})*:[0-9a-fA-F]+))?$`,
);

/** Largest number of characters of a repository with its host. */
const NAME_LENGTH = 255;
const TAG_LENGTH = 128;
const DIGEST = /^(?:sha256:[a-f0-9]{64}|sha384:[a-f0-9]{96}|sha512:[a-f0-9]{128})$/;
/** The id of an image, which is not a name. */
const ID = /^[a-f0-9]{64}$/;

/** Whether the part before the first slash is a host, and not the beginning of a repository. */
const isHost = (part: string): boolean => /[.:]/.test(part) || part === 'localhost' || part !== part.toLowerCase();

/** Returns an image with the default host and folder where it names none. */
function completeName(image: string): string {
  const slash = image.indexOf('/');
  if (slash >= 0 && isHost(image.slice(0, slash))) return image;
  return `docker.io/${slash < 0 ? 'library/' : ''}${image}`;
}

/**
 * The tag of an image reference (the grammar of container registries): `latest` where it has neither tag nor digest,
 * empty where it has a digest alone, and for a text that is not a reference.
 */
function tagOf(image: string): string {
  const match = ID.test(image) ? null : REFERENCE.exec(completeName(image));
  if (!match || match[1]!.length > NAME_LENGTH) return '';
  const { tag, digest } = match.groups!;
  if (tag !== undefined && tag.length > TAG_LENGTH) return '';
  if (digest !== undefined && !DIGEST.test(digest)) return '';
  return tag ?? (digest === undefined ? 'latest' : '');
}

/** The default pull policy of an image: `Always` for the tag `latest`, which may come to stand for another image. */
export const pullPolicyFor = (image: string): string => (tagOf(image) === 'latest' ? 'Always' : 'IfNotPresent');
