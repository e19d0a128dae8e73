import me.ahoo.cosid.snowflake.*;
public class T { public static void main(String[] a){ System.out.println(System.currentTimeMillis()+" "+new MillisecondSnowflakeId(3).generate()+" "+new SecondSnowflakeId(3).generate()); } }
