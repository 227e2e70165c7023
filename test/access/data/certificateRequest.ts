const PEM =
  '-----BEGIN CERTIFICATE REQUEST-----\n' +
  'MIHJMHECAQAwDzENMAsGA1UEAwwEZGF2ZTBZMBMGByqGSM49AgEGCCqGSM49AwEH\n' +
  'A0IABFUEn6B9ZhRkeUQa86uAl1AdqEgWoNYFiJOmFmrVk7z7Ghxd50tHuZC08Xdr\n' +
  '+lpoB4SkmosT2fd1nssLsLIGKdegADAKBggqhkjOPQQDAgNIADBFAiAYkEm6lPg+\n' +
  '1URJ6wcSyD8ODlEF4ZzQWhOJDE+I5ppAawIhANf76bdIuC/jysrZIxCbLfpSB0m6\n' +
  'fgXjyKhBYrZJjdLD\n' +
  '-----END CERTIFICATE REQUEST-----\n';

/** A PKCS #10 request for `CN=dave`, signed with its own key, as objects hold it. The key was not kept. */
export const CERTIFICATE_REQUEST = Buffer.from(PEM).toString('base64');
