/** The script of the worker that solves the proof of work. */
import { type Challenge, solveWork, type WorkProgress } from '../../crypto/proof-of-work.ts'

interface WorkRequest {
  challenge: Challenge
  ciphertext: Uint8Array
}

export type WorkMessage = { progress: WorkProgress } | { counter: number }

const send = (message: WorkMessage) => postMessage(message)

async function work({ challenge, ciphertext }: WorkRequest) {
  const onProgress = (progress: WorkProgress) => send({ progress })
  send({ counter: await solveWork(challenge, ciphertext, { onProgress }) })
}

addEventListener('message', ({ data }: MessageEvent<WorkRequest>) => void work(data))
