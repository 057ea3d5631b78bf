/** The settings of Two-key. */
import type { ConfigTable, ConfigValues } from '@strongroom/kit/config'
import { boolean, integer, list, network, url } from '@strongroom/kit/config-types'
import type { SafeFetchOptions } from '@strongroom/kit/safe-fetch'

export const twoKeySettings = {
  TWO_KEY_SLACK_API_URL: {
    type: url(),
    default: 'https://slack.com/api',
    description:
      'The base URL of Slack’s Web API, or of a replacement such as "strongroom fake-slack"',
  },
  TWO_KEY_SLACK_SHARE: {
    type: integer({ min: 1, max: 100 }),
    default: 80,
    description:
      'Percentage of Slack’s rate limits that this process may use; divide it by the number of processes',
  },
  TWO_KEY_CACHE_MAC: {
    type: boolean(),
    default: false,
    description:
      'Whether cache entries carry a MAC, so that write access to the table is not enough to forge one',
  },
  TWO_KEY_ALLOWED_NETWORKS: {
    type: list(network()),
    default: [],
    description: 'Private networks to which requests may be sent',
  },
  TWO_KEY_ALLOW_HTTP: {
    type: boolean(),
    default: false,
    description: 'Whether requests may be sent to unencrypted http URLs',
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
