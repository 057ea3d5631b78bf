/**
 * Where the API of a service is. On a server with one service only, which is mounted at the root, its
 * paths have no prefix: `/v1/events` instead of `/ferryhook/v1/events`.
 */
const rootService = document.documentElement.dataset['rootService']

export function servicePath(path: string): string {
  const prefix = `/${rootService}`
  return rootService !== undefined && path.startsWith(`${prefix}/`)
    ? path.slice(prefix.length)
    : path
}
