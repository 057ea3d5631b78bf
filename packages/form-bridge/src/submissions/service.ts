/**
 * Delivers a form submission to its destination before the site gets a response. Submissions are not
 * stored, so none can be lost here: the site keeps one and retries it with the same id until it is
 * delivered.
 */
import { type Clock, epochSeconds } from '@strongroom/platform/clock'
import { requestError } from '@strongroom/kit/http/errors'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { isDeeperThan } from '@strongroom/platform/json-depth'
import type { Destination, SiteSecrets } from '../credentials/secrets.ts'
import { formBridgeError } from '../errors.ts'
import type { Site } from '../sites/item.ts'
import { isoNow } from '../time.ts'
import { webhookHeaders } from './destination.ts'
import type { SubmissionFiles } from './files.ts'

export interface Submission {
  submission_id: string
  form_id: string
  form_name?: string | undefined
  page_url?: string | undefined
  submitted_at: string
  fields: Record<string, unknown>
  files?: SubmissionFiles | undefined
}

/**
 * Lists and objects inside each other in `fields`, which itself is the first. Forms nest a few levels;
 * without a limit, what `JSON.stringify` accepts would depend on the version of Node.
 */
export const MAX_SUBMISSION_DEPTH = 100

/** Of a submission without its files. */
export const MAX_FIELDS_BYTES = 1024 * 1024

const RETRY_AFTER = { 'retry-after': '60' }

export type SubmissionService = ReturnType<typeof createSubmissionService>

export function createSubmissionService(deps: {
  clock: Clock
  fetch: SafeFetch
  siteSecrets: Pick<SiteSecrets, 'decryptDestination'>
  /** For sites without their own. */
  defaultDestination: Destination | undefined
}) {
  const { clock, fetch, siteSecrets, defaultDestination } = deps

  async function requireDestination(site: Site): Promise<Destination> {
    if (site.unconfirmed_since !== undefined) throw formBridgeError('confirmation_needed')
    const own =
      site.destination && (await siteSecrets.decryptDestination(site.site_id, site.destination))
    const destination = own || defaultDestination
    if (!destination) throw formBridgeError('no_destination')
    return destination
  }

  return {
    async deliver(site: Site, submission: Submission): Promise<void> {
      const { url, secret } = await requireDestination(site)
      requireShallow(submission)
      requireSmallFields(submission)
      const { site_id, domain, environment = 'production' } = site
      const id = `${site_id}.${submission.submission_id}`
      const body = JSON.stringify({
        type: 'form.submission',
        site_id,
        domain,
        environment,
        received_at: isoNow(clock),
        ...submission,
      })
      const headers = {
        'content-type': 'application/json',
        ...webhookHeaders(id, epochSeconds(clock), body, secret),
      }
      const response = await fetch(url, { method: 'POST', headers, body }).catch(
        (error: unknown) => {
          if (!(error instanceof SafeFetchError)) throw error
          throw formBridgeError('destination_unreachable', {
            data: { reason: error.reason },
            headers: RETRY_AFTER,
          })
        },
      )
      if (response.status >= 200 && response.status < 300) return
      throw formBridgeError('destination_refused', {
        data: { destination_status: response.status },
        headers: RETRY_AFTER,
      })
    },
  }
}

function requireShallow({ fields }: Submission): void {
  if (!isDeeperThan(fields, MAX_SUBMISSION_DEPTH)) return
  const message = `Must not nest more than ${MAX_SUBMISSION_DEPTH} levels deep`
  throw requestError('invalid', { details: [{ path: 'body.fields', message }] })
}

/** The body may be larger because of files only. */
function requireSmallFields(submission: Submission): void {
  const text = JSON.stringify({ ...submission, files: undefined })
  if (Buffer.byteLength(text) <= MAX_FIELDS_BYTES) return
  throw requestError('too_large', { data: { maxBytes: MAX_FIELDS_BYTES } })
}
