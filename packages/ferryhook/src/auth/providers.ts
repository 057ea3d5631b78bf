/** The providers that the settings name. */
import { ConfigError } from '@strongroom/kit/config'
import type { FerryhookSettings } from '../settings.ts'
import { githubProvider } from './github.ts'
import { googleProvider } from './google.ts'
import type { IdentityProviders } from './sign-in.ts'

export function providersOf(settings: FerryhookSettings): IdentityProviders {
  const github = clientOf('GITHUB', settings)
  const google = clientOf('GOOGLE', settings)
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

/** Half of it is most likely a slip, and nobody could sign in. */
function clientOf(provider: 'GITHUB' | 'GOOGLE', settings: FerryhookSettings) {
  const idName = `FERRYHOOK_${provider}_CLIENT_ID` as const
  const secretName = `FERRYHOOK_${provider}_CLIENT_SECRET` as const
  const [clientId, clientSecret] = [settings[idName], settings[secretName]]
  if ((clientId === undefined) !== (clientSecret === undefined)) {
    throw new ConfigError([`${idName} and ${secretName} belong together: set both, or neither`])
  }
  return clientId !== undefined && clientSecret !== undefined
    ? { clientId, clientSecret }
    : undefined
}
