/** The settings of Two-key, and what follows from them. */
import type { ConfigTable, ConfigValues } from '@strongroom/kit/config'
import { boolean, integer, list, network, url } from '@strongroom/kit/config-types'
import type { SafeFetchOptions } from '@strongroom/kit/safe-fetch'

export const twoKeySettings = {
  TWO_KEY_SLACK_API_URL: {
    type: url(),
    default: 'https://slack.com/api',
    description: 'Slack’s Web API, or another in its place, such as "strongroom fake-slack"',
  },
  TWO_KEY_SLACK_SHARE: {
    type: integer({ min: 1, max: 100 }),
    default: 80,
    description:
      'How many percent of the calls that Slack allows this process may make; divide by the number of processes',
  },
  TWO_KEY_CACHE_MAC: {
    type: boolean(),
    default: false,
    description:
      'Whether entries of the cache carry a MAC, so that who writes the table vouches for nobody',
  },
  TWO_KEY_ALLOWED_NETWORKS: {
    type: list(network()),
    default: [],
    description: 'Networks in which apps may be although they are not public',
  },
  TWO_KEY_ALLOW_HTTP: {
    type: boolean(),
    default: false,
    description: 'Whether apps may be at http URLs, unencrypted',
  },
} as const satisfies ConfigTable

export type TwoKeySettings = ConfigValues<typeof twoKeySettings>

/** Where verified requests may be sent. */
export function upstreamPolicy(
  settings: Pick<TwoKeySettings, 'TWO_KEY_ALLOWED_NETWORKS' | 'TWO_KEY_ALLOW_HTTP'>,
): Pick<SafeFetchOptions, 'allow' | 'allowHttp' | 'ports' | 'userAgent'> {
  return {
    allow: settings.TWO_KEY_ALLOWED_NETWORKS,
    allowHttp: settings.TWO_KEY_ALLOW_HTTP,
    ports: 'unprivileged',
    userAgent: 'Strongroom-Two-key/1.0',
  }
}
