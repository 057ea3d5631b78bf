/**
 * Where answers go. Whoever has the signing secret can sign a request with an address of his own, and
 * frameworks post there what the app says, or reach into the app's network for him.
 */
import { isObject, type JsonObject, own } from '../payload/json.ts'

const SLACK_HOST = 'hooks.slack.com'

export type ResponseUrlCheck = (body: JsonObject) => boolean

/** Nothing that parsers of addresses disagree about, such as a backslash or a line end. */
const PLAIN = /^[\w\-./~:?#@!$&'()*+,;=%]+$/

/** Whether every address that a payload wants answers at is Slack's. */
export function createResponseUrlCheck(furtherHosts: readonly string[] = []): ResponseUrlCheck {
  const starts = [SLACK_HOST, ...furtherHosts].map((host) => `https://${host}/`)
  // By its text: whoever posts there may parse it otherwise than we would.
  const isSlacks = (value: unknown): boolean =>
    typeof value === 'string' &&
    PLAIN.test(value) &&
    starts.some((start) => value.startsWith(start))

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
