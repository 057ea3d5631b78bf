/** Says that the server cannot be reached, and since when what is shown may be old. */
import { useEffect } from 'preact/hooks'
import { isOnline, lastResponseAt } from '../api/request.ts'
import { formatExact } from '../parts/format.ts'
import { Icon } from '../parts/icon.tsx'

const RETRY_MS = 5_000

export function OfflineStrip() {
  return isOnline.value ? null : <Strip />
}

function Strip() {
  useEffect(() => {
    const retry = () => void tryNow()
    const timer = setInterval(retry, RETRY_MS)
    addEventListener('online', retry)
    return () => {
      clearInterval(timer)
      removeEventListener('online', retry)
    }
  }, [])
  return (
    <div class="strip is-warn" role="status">
      <Icon name="offline" />
      <span>
        <b>Offline.</b> Shown as of {formatExact(lastResponseAt.value, { withMs: false })}. What you
        typed stays; changes can be saved when the connection is back.
      </span>
      <button class="button button-small" type="button" onClick={() => void tryNow()}>
        <span>Try now</span>
      </button>
    </div>
  )
}

async function tryNow(): Promise<void> {
  const response = await fetch('/healthz', { cache: 'no-store' }).catch(() => undefined)
  if (!response?.ok) return
  lastResponseAt.value = Date.now()
  isOnline.value = true
}
