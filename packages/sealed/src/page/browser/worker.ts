/** The script of the worker that does the proof of work. */
import { type Challenge, solveWork, type WorkProgress } from '../../crypto/proof-of-work.ts'

interface WorkOrder {
  challenge: Challenge
  ciphertext: Uint8Array
}

export type WorkAnswer = { progress: WorkProgress } | { counter: number }

const answer = (message: WorkAnswer) => postMessage(message)

async function work({ challenge, ciphertext }: WorkOrder) {
  const onProgress = (progress: WorkProgress) => answer({ progress })
  answer({ counter: await solveWork(challenge, ciphertext, { onProgress }) })
}

addEventListener('message', ({ data }: MessageEvent<WorkOrder>) => void work(data))
