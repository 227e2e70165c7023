const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/**
 * The certificates of a bundle, each as PEM. Text beside them is ignored; whether they can be parsed is not checked.
 */
export const certificatesIn = (bundle: string): readonly string[] => bundle.match(CERTIFICATE) ?? [];
