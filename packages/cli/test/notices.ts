/** Standard error without the lines that say which store a command created or which server it ignored. */
export function withoutNotices(stderr: string): string {
  return stderr.replaceAll(
    /^(?:Created a store in .*|"strongroom [a-z -]+" ignores STRONGROOM_SERVER .*)\n/gm,
    '',
  )
}
