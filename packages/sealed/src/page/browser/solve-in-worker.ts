/** Runs the proof of work in a worker, so that the page stays responsive and can cancel it. */
import { RequestFailed } from '../../client/errors.ts'
import type { Solve } from '../../client/solve-in-time.ts'
import type { WorkProgress } from '../../crypto/proof-of-work.ts'
import { requireElement } from './dom.ts'
import type { WorkMessage } from './worker.ts'

export function solveInWorker(onProgress: (progress: WorkProgress) => void): Solve {
  return (challenge, ciphertext, { signal }) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const worker = new Worker(workerUrl())
      const end = () => worker.terminate()
      signal.addEventListener('abort', () => {
        end()
        reject(signal.reason)
      })
      worker.addEventListener('error', (event) => {
        end()
        // A worker script that could not be loaded causes an event without a message.
        const hasFailed = event instanceof ErrorEvent
        reject(
          hasFailed
            ? new Error(`The worker failed: ${event.message}`)
            : new RequestFailed('unreachable'),
        )
      })
      worker.addEventListener('message', ({ data }: MessageEvent<WorkMessage>) => {
        if ('progress' in data) return onProgress(data.progress)
        end()
        resolve(data.counter)
      })
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window, a worker
      worker.postMessage({ challenge, ciphertext })
    })
}

/** Browsers with Trusted Types need a policy that allows this script. */
function workerUrl(): string {
  const url = new URL(requireElement('stage').dataset['worker'] ?? '', document.baseURI).href
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes
  if (!types) return url
  policy ??= types.createPolicy('sealed-worker', {
    createScriptURL(requested) {
      if (requested !== url) throw new TypeError('Only the worker script is allowed')
      return requested
    },
  })
  // TypeScript has no types for this and expects a string.
  return policy.createScriptURL(url)
}

interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy
}

interface Policy {
  createScriptURL(url: string): string
}

let policy: Policy | undefined
