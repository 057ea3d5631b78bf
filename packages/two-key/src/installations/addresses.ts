/** The addresses of an app's installation, and the scopes that it asks for. */
import { REQUIRED_SCOPES } from '../tokens/service.ts'

/** `base` is the public URL with the path that the service is mounted at. */
export function installationUrls(
  base: string,
  app: string,
): { installUrl: string; redirectUrl: string } {
  const prefix = `${base}/slack/${app}`
  return { installUrl: `${prefix}/install`, redirectUrl: `${prefix}/oauth/callback` }
}

export function installationScopes(own: readonly string[] = []): string[] {
  return [...new Set([...REQUIRED_SCOPES, ...own])]
}

/** Slack's page that asks a person to install an app. It is beside the API. */
export function authorizeUrl(
  apiUrl: string,
  query: { clientId: string; scopes: readonly string[]; state: string; redirectUrl: string },
): string {
  const url = new URL('../oauth/v2/authorize', apiUrl.endsWith('/') ? apiUrl : `${apiUrl}/`)
  const { clientId, scopes, state, redirectUrl } = query
  url.search = new URLSearchParams({
    client_id: clientId,
    scope: scopes.join(','),
    state,
    redirect_uri: redirectUrl,
  }).toString()
  return url.href
}
