/** Uploads a package with progress, which `fetch` does not report. */
import { ApiFailure, ConnectionFailure } from './errors.ts'
import { FORM_BRIDGE_API, PLUGIN, type ReleaseLine } from './form-bridge.ts'

interface ErrorBody {
  error?: { code?: string; message?: string; details?: { path: string; message: string }[] }
}

export function uploadRelease(upload: {
  version: string
  signature: string
  zip: Blob
  signal: AbortSignal
  /** From 0 to 1. */
  onProgress: (share: number) => void
}): Promise<ReleaseLine> {
  const { version, signature, zip, signal } = upload
  return new Promise((resolve, reject) => {
    const call = new XMLHttpRequest()
    call.open('PUT', `${FORM_BRIDGE_API}/plugins/${PLUGIN}/${encodeURIComponent(version)}`)
    call.responseType = 'json'
    call.setRequestHeader('content-type', 'application/zip')
    call.setRequestHeader('x-fb-release-signature', signature)
    call.upload.addEventListener('progress', ({ loaded, total }) =>
      upload.onProgress(total > 0 ? loaded / total : 0),
    )
    call.addEventListener('load', () => {
      if (call.status === 201) resolve(call.response as ReleaseLine)
      else reject(failureOf(call))
    })
    call.addEventListener('error', () => reject(new ConnectionFailure()))
    call.addEventListener('abort', () => reject(signal.reason))
    signal.addEventListener('abort', () => call.abort(), { once: true })
    call.send(zip)
  })
}

function failureOf(call: XMLHttpRequest): ApiFailure {
  const { error = {} } = (call.response as ErrorBody | null) ?? {}
  return new ApiFailure({
    status: call.status,
    code: error.code ?? `http.${call.status}`,
    message: error.message ?? `The server responded with status ${call.status}.`,
    details: error.details,
    requestId: call.getResponseHeader('x-request-id') ?? undefined,
  })
}
