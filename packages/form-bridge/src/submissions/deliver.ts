/**
 * Hands a form submission to its destination before the site hears that it was taken: nothing is kept
 * here, so nothing can be lost here. Until then the site keeps it and tries again, under the same id.
 */
import { type Clock, epochSeconds } from '@strongroom/kit/clock'
import { requestError } from '@strongroom/kit/http/errors'
import type { SafeFetch } from '@strongroom/kit/safe-fetch'
import { SafeFetchError } from '@strongroom/kit/safe-fetch/error'
import { formBridgeError } from '../errors.ts'
import { isoNow } from '../expiry.ts'
import type { Site } from '../items/site.ts'
import type { Destination, KeptSecrets } from '../keys/kept-secrets.ts'
import { signatureHeaders } from './webhook-signature.ts'

export interface Submission {
  submission_id: string
  form_id: string
  form_name?: string | undefined
  page_url?: string | undefined
  submitted_at: string
  fields: Record<string, unknown>
}

const RETRY_AFTER = { 'retry-after': '60' }

export type Deliver = ReturnType<typeof createDeliver>

export function createDeliver(deps: {
  clock: Clock
  fetch: SafeFetch
  kept: Pick<KeptSecrets, 'openDestination'>
  /** Of sites that have none of their own. */
  general: Destination | undefined
}) {
  const { clock, fetch, kept, general } = deps

  async function destinationOf(site: Site): Promise<Destination> {
    if (site.unconfirmed_since !== undefined) throw formBridgeError('confirmation_needed')
    const own = site.destination && (await kept.openDestination(site.site_id, site.destination))
    const destination = own || general
    if (!destination) throw formBridgeError('no_destination')
    return destination
  }

  return async (site: Site, submission: Submission): Promise<void> => {
    const { url, secret } = await destinationOf(site)
    const { site_id, domain, environment = 'production' } = site
    const id = `${site_id}.${submission.submission_id}`
    const body = written({
      type: 'form.submission',
      site_id,
      domain,
      environment,
      received_at: isoNow(clock),
      ...submission,
    })
    const headers = {
      'content-type': 'application/json',
      ...signatureHeaders(id, epochSeconds(clock), body, secret),
    }
    const answer = await fetch(url, { method: 'POST', headers, body }).catch((error: unknown) => {
      if (!(error instanceof SafeFetchError)) throw error
      throw formBridgeError('destination_unreachable', {
        data: { reason: error.reason },
        headers: RETRY_AFTER,
      })
    })
    if (answer.status >= 200 && answer.status < 300) return
    throw formBridgeError('destination_refused', {
      data: { destination_status: answer.status },
      headers: RETRY_AFTER,
    })
  }
}

/** What is nested by the thousands can be read, but not written again. */
function written(content: object): string {
  try {
    return JSON.stringify(content)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const details = [{ path: 'body.fields', message: 'Is nested too deeply' }]
    throw requestError('invalid', { details })
  }
}
