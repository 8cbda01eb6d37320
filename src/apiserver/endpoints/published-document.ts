// Documents that are served as they are, such as the keys of service account tokens.

/** A document at a path of its own. */
export interface PublishedDocument {
  /** Media type. */
  type: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}
