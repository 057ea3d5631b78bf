import type { StartTimer } from '@strongroom/kit/safe-fetch/deadline'

/** The same as that of safe-fetch, without the HTTP client that comes with it. */
export const systemTimer: StartTimer = (ms, expire) => {
  const timer = setTimeout(expire, ms)
  return () => clearTimeout(timer)
}
