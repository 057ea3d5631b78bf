/** Step three: the request is for this app, and its responses go to Slack. */
import { type Rejected, rejectPayload } from './decision.ts'
import { isObject, type JsonObject, ownValue } from './payload/ids.ts'
import type { CheckablePayload } from './payload/parse.ts'

export interface PolicyOptions {
  /** The app's id (A…): requests that name another app are rejected. */
  appId?: string
  /** Hosts besides hooks.slack.com that responses may be posted to. */
  responseHosts?: readonly string[]
  /** The status of a definite rejection; 200 keeps Slack from disabling the app's events. */
  rejectStatus?: 403 | 200
}

export type CheckPolicy = (payload: CheckablePayload) => Rejected | undefined

export function createPolicyCheck(options: PolicyOptions): CheckPolicy {
  const { appId, rejectStatus = 403 } = options
  const hasSlackResponseUrls = createResponseUrlCheck(options.responseHosts)

  return (payload) => {
    if (appId !== undefined && !isForApp(payload, appId)) {
      return rejectPayload('foreign_app', rejectStatus)
    }
    if (!hasSlackResponseUrls(payload.body)) {
      return rejectPayload('foreign_response_url', rejectStatus)
    }
    return undefined
  }
}

/** Payloads without the app's id: Slack leaves it out of shortcuts and of legacy interactions. */
const WITHOUT_APP_ID = new Set([
  'dialog_cancellation',
  'dialog_submission',
  'dialog_suggestion',
  'interactive_message',
  'message_action',
  'shortcut',
  'workflow_step_edit',
])

/** If two apps share a signing secret by mistake, neither may send requests for the other. */
function isForApp({ type, body }: CheckablePayload, appId: string): boolean {
  const named = ownValue(body, 'api_app_id')
  return named === appId || (named === undefined && WITHOUT_APP_ID.has(type))
}

const SLACK_HOST = 'hooks.slack.com'
/** Excludes characters that URL parsers disagree about, such as a backslash or a line break. */
const PLAIN_URL = /^[\w\-./~:?#@!$&'()*+,;=%]+$/

/**
 * Whether every response URL of a payload is Slack's. With a leaked signing secret an attacker could
 * sign any URL, and frameworks would post the app's responses there.
 */
function createResponseUrlCheck(otherHosts: readonly string[] = []): (body: JsonObject) => boolean {
  const prefixes = [SLACK_HOST, ...otherHosts].map((host) => `https://${host}/`)
  // Compared as text, because the framework that posts there may parse it differently.
  const isSlackUrl = (value: unknown): boolean =>
    typeof value === 'string' &&
    PLAIN_URL.test(value) &&
    prefixes.some((prefix) => value.startsWith(prefix))

  return (body) => {
    const url = ownValue(body, 'response_url')
    if (url !== undefined && url !== null && url !== '' && !isSlackUrl(url)) return false
    const urls = ownValue(body, 'response_urls')
    if (urls === undefined || urls === null) return true
    return (
      Array.isArray(urls) &&
      urls.every((each) => isObject(each) && isSlackUrl(ownValue(each, 'response_url')))
    )
  }
}
