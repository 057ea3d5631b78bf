/**
 * Where answers go. Whoever has the signing secret can sign a request with an address of his own, and
 * frameworks post there what the app says, or reach into the app's network for him.
 */
import { isObject, type JsonObject, own } from '../payload/json.ts'

const SLACK_HOST = 'hooks.slack.com'

export type ResponseUrlCheck = (body: JsonObject) => boolean

/** Whether every address that a payload wants answers at is Slack's. */
export function createResponseUrlCheck(furtherHosts: readonly string[] = []): ResponseUrlCheck {
  const hosts = new Set([SLACK_HOST, ...furtherHosts])
  const isSlacks = (value: unknown): boolean => {
    if (typeof value !== 'string' || !URL.canParse(value)) return false
    const { protocol, host, username, password } = new URL(value)
    // `host` has the port too, unless it is the usual one.
    return protocol === 'https:' && username === '' && password === '' && hosts.has(host)
  }

  return (body) => {
    const url = own(body, 'response_url')
    if (url !== undefined && url !== null && url !== '' && !isSlacks(url)) return false
    const urls = own(body, 'response_urls')
    if (urls === undefined || urls === null) return true
    return (
      Array.isArray(urls) &&
      urls.every((each) => isObject(each) && isSlacks(own(each, 'response_url')))
    )
  }
}
