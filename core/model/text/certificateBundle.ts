const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** The certificates of a bundle, each as PEM. Other text is ignored, and the certificates are not parsed. */
export const certificatesIn = (bundle: string): readonly string[] => bundle.match(CERTIFICATE) ?? [];
