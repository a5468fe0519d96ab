declare module "*/NOTICE" {
  const text: string;
  export default text;
}
