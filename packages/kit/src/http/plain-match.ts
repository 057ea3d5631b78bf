/** Which of the plain routes a request is for, and what stands for its parameter. */
import type { PlainRoute } from './plain-route.ts'

/** Nothing that would have to be decoded: whatever is spelled in another way is the app's. */
const PARAMETER = /^[\w-]{1,200}$/

export interface Matched<R> {
  route: R
  parameter: string
}

export function plainMatcher<R extends PlainRoute>(
  routes: readonly R[],
): (method: string, url: string) => Matched<R> | undefined {
  const patterns = routes.map((route) => {
    const [prefix = '', rest] = route.path.split(':')
    const suffix = rest?.slice(rest.includes('/') ? rest.indexOf('/') : rest.length)
    return { route, prefix, suffix }
  })

  return (method, url) => {
    const mark = url.indexOf('?')
    const path = mark < 0 ? url : url.slice(0, mark)
    for (const { route, prefix, suffix } of patterns) {
      if (!path.startsWith(prefix) || !route.methods.includes(method)) continue
      if (suffix === undefined) {
        if (path.length === prefix.length) return { route, parameter: '' }
      } else if (path.endsWith(suffix)) {
        const parameter = path.slice(prefix.length, path.length - suffix.length)
        if (PARAMETER.test(parameter)) return { route, parameter }
      }
    }
    return undefined
  }
}
