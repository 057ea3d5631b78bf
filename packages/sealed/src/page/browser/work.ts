/** The proof of work, beside the page: it keeps moving, and the work can be stopped at any moment. */
import { RequestFailed } from '../../client/errors.ts'
import type { Solve } from '../../client/seal-secret.ts'
import type { WorkProgress } from '../../crypto/proof-of-work.ts'
import { requireElement } from './stage.ts'
import type { WorkAnswer } from './worker.ts'

export function solveBeside(onProgress: (progress: WorkProgress) => void): Solve {
  return (challenge, ciphertext, { signal }) =>
    new Promise((resolve, reject) => {
      signal.throwIfAborted()
      const worker = new Worker(workerAddress())
      const end = () => worker.terminate()
      signal.addEventListener('abort', () => {
        end()
        reject(signal.reason)
      })
      worker.addEventListener('error', (event) => {
        end()
        // A script that could not be had says nothing, one that failed says how.
        const hasFailed = event instanceof ErrorEvent
        reject(
          hasFailed
            ? new Error(`The worker failed: ${event.message}`)
            : new RequestFailed('unreachable'),
        )
      })
      worker.addEventListener('message', ({ data }: MessageEvent<WorkAnswer>) => {
        if ('progress' in data) return onProgress(data.progress)
        end()
        resolve(data.counter)
      })
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- no window, a worker
      worker.postMessage({ challenge, ciphertext })
    })
}

/** Browsers with Trusted Types want it said which script this may be. */
function workerAddress(): string {
  const address = new URL(requireElement('stage').dataset['worker'] ?? '', document.baseURI).href
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes
  if (!types) return address
  policy ??= types.createPolicy('sealed-worker', {
    createScriptURL(asked) {
      if (asked !== address) throw new TypeError('There is no other worker')
      return asked
    },
  })
  // A string to the types of TypeScript, which do not know of this.
  return policy.createScriptURL(address)
}

interface TrustedTypes {
  createPolicy(name: string, rules: Policy): Policy
}

interface Policy {
  createScriptURL(address: string): string
}

let policy: Policy | undefined
