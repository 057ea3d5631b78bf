/** The providers that the settings name. */
import type { FerryhookSettings } from '../settings.ts'
import { githubProvider } from './github.ts'
import { googleProvider } from './google.ts'
import type { IdentityProviders } from './sign-in.ts'

export function providersOf(settings: FerryhookSettings): IdentityProviders {
  const providers: IdentityProviders = {}
  const {
    FERRYHOOK_GITHUB_CLIENT_ID: githubId,
    FERRYHOOK_GITHUB_CLIENT_SECRET: githubSecret,
    FERRYHOOK_GOOGLE_CLIENT_ID: googleId,
    FERRYHOOK_GOOGLE_CLIENT_SECRET: googleSecret,
  } = settings
  if (githubId !== undefined && githubSecret !== undefined) {
    providers.github = githubProvider({
      url: settings.FERRYHOOK_GITHUB_URL,
      apiUrl: settings.FERRYHOOK_GITHUB_API_URL,
      clientId: githubId,
      clientSecret: githubSecret,
    })
  }
  if (googleId !== undefined && googleSecret !== undefined) {
    providers.google = googleProvider({
      issuer: settings.FERRYHOOK_GOOGLE_ISSUER,
      clientId: googleId,
      clientSecret: googleSecret,
    })
  }
  return providers
}
