/** The values of a name in a header like `t=1,v1=aa,v1=bb`, in their order. */
export function fieldsOf(header: string, separator: ',' | ';'): (name: string) => string[] {
  const fields = header.split(separator).map((field) => field.trim())
  return (name) =>
    fields
      .filter((field) => field.startsWith(`${name}=`))
      .map((field) => field.slice(name.length + 1))
}
