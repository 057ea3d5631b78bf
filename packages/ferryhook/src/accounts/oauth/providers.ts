/** Creates the providers that the settings configure. */
import { invalidConfig } from '@strongroom/kit/config'
import type { FerryhookSettings } from '../../settings.ts'
import { githubProvider } from './github.ts'
import { googleProvider } from './google.ts'
import type { IdentityProviders } from './service.ts'

export function createProviders(settings: FerryhookSettings): IdentityProviders {
  const github = clientIn('GITHUB', settings)
  const google = clientIn('GOOGLE', settings)
  return {
    ...(github && {
      github: githubProvider({
        ...github,
        url: settings.FERRYHOOK_GITHUB_URL,
        apiUrl: settings.FERRYHOOK_GITHUB_API_URL,
      }),
    }),
    ...(google && {
      google: googleProvider({ ...google, issuer: settings.FERRYHOOK_GOOGLE_ISSUER }),
    }),
  }
}

/** One without the other is most likely a mistake, so it is reported at the start. */
function clientIn(provider: 'GITHUB' | 'GOOGLE', settings: FerryhookSettings) {
  const idName = `FERRYHOOK_${provider}_CLIENT_ID` as const
  const secretName = `FERRYHOOK_${provider}_CLIENT_SECRET` as const
  const [clientId, clientSecret] = [settings[idName], settings[secretName]]
  if ((clientId === undefined) !== (clientSecret === undefined)) {
    throw invalidConfig([`${idName} and ${secretName} belong together: set both, or neither`])
  }
  return clientId !== undefined && clientSecret !== undefined
    ? { clientId, clientSecret }
    : undefined
}
