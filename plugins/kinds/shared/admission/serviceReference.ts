/** The default port of the service in a client configuration is 443. */
export function setServiceReferenceDefaults({ service }: { readonly service?: { port?: number } }): void {
  if (service) service.port ??= 443;
}
